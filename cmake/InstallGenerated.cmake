# Run by `cmake --install`: what the program prints about itself goes where its readers look.
# EXA_PROGRAM: the program that was built; EXA_SCRATCH: a folder of the build tree; EXA_SOURCE: the source tree.
file(MAKE_DIRECTORY "${EXA_SCRATCH}")

# Packed without a time or a name, so that the same input makes the same package.
function(install_packed folder file)
  execute_process(COMMAND gzip -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}" TYPE FILE FILES "${file}.gz")
endfunction()

function(install_output folder name)
  execute_process(COMMAND "${EXA_PROGRAM}" ${ARGN} OUTPUT_FILE "${EXA_SCRATCH}/${name}"
                  RESULT_VARIABLE failed ERROR_VARIABLE complaint)
  if(failed)
    message(FATAL_ERROR "exa ${ARGN}: ${complaint}")
  endif()
  if(name MATCHES "\\.1$")
    install_packed(${folder} "${EXA_SCRATCH}/${name}")
  else()
    file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/${folder}" TYPE FILE FILES "${EXA_SCRATCH}/${name}")
  endif()
endfunction()

install_output(share/man/man1 exa.1 man)
install_output(share/bash-completion/completions exa completion bash)
install_output(share/zsh/vendor-completions _exa completion zsh)
install_output(share/fish/vendor_completions.d exa.fish completion fish)

# All in one folder; what is for those who build exa stays out.
foreach(document README.md docs/operations.md docs/security.md docs/audit-format.md docs/launching.md docs/compute.md docs/catalogue.md
        docs/environment-templates.md docs/vocabularies.md)
  get_filename_component(name ${document} NAME)
  file(READ "${EXA_SOURCE}/${document}" text)
  string(REPLACE "](docs/" "](" text "${text}")
  string(REPLACE "](../testdata/authorisation/" "](" text "${text}")
  string(REGEX REPLACE "\n## More\n.*" "" text "${text}")
  file(WRITE "${EXA_SCRATCH}/${name}" "${text}")
  file(INSTALL DESTINATION "${CMAKE_INSTALL_PREFIX}/share/doc/exa" TYPE FILE FILES "${EXA_SCRATCH}/${name}")
endforeach()

configure_file("${EXA_SOURCE}/CHANGELOG.md" "${EXA_SCRATCH}/changelog" COPYONLY)
install_packed(share/doc/exa "${EXA_SCRATCH}/changelog")
