# src/store/migrations/NNNN_name.sql -> migrations.cc with the text of each, in order.
file(GLOB migration_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/store/migrations/*.sql)
list(SORT migration_files)
set(rows "")
foreach(file IN LISTS migration_files)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  get_filename_component(stem ${file} NAME_WE)
  string(REGEX MATCH "^0*([0-9]+)_(.*)$" matched ${stem})
  file(READ ${file} sql)
  string(APPEND rows "    Migration{${CMAKE_MATCH_1}, \"${CMAKE_MATCH_2}\", R\"sql(${sql})sql\"},\n")
endforeach()
set(generated "#include \"store/store.h\"\n\nnamespace exa {\nnamespace {\n\
constexpr Migration kMigrations[] = {\n${rows}};\n}  // namespace\n\n\
std::span<const Migration> migrations() { return kMigrations; }\n\n}  // namespace exa\n")
set(EXA_MIGRATIONS ${CMAKE_BINARY_DIR}/migrations.cc)
file(CONFIGURE OUTPUT ${EXA_MIGRATIONS} CONTENT "${generated}" @ONLY)
