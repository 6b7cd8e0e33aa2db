# Flags that every target shares. Warnings are errors.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  CCACHE_PCH_EXTSUM=1 ${CCACHE})
endif()
find_program(MOLD mold)

add_library(exa_flags INTERFACE)
target_compile_options(exa_flags INTERFACE -Wall -Wextra -Wpedantic -Werror -Wshadow -Wnon-virtual-dtor
                       -Woverloaded-virtual -Wconversion -Wno-sign-conversion -fno-plt
                       # rows of tables name only the members that differ from the default
                       -Wno-missing-field-initializers)
target_include_directories(exa_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(exa_flags INTERFACE EXA_VERSION="${PROJECT_VERSION}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 warns falsely inside libstdc++'s strings and boost's variant storage at -O2 and up
  target_compile_options(exa_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized
                         -Wno-stringop-overflow -Wno-array-bounds -fpch-preprocess)
endif()
if(MOLD)
  target_link_options(exa_flags INTERFACE -fuse-ld=mold)
endif()
if(EXA_SANITIZE)
  target_compile_options(exa_flags INTERFACE -fsanitize=${EXA_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(exa_flags INTERFACE -fsanitize=${EXA_SANITIZE})
endif()
