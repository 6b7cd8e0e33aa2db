# What an installation consists of, and the Debian package made of it (make package).
# The manual and the completions come from the program itself, so they are made when it is installed; documents get
# links that lead somewhere where they lie then.
include(GNUInstallDirs)

install(TARGETS exa RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT exa)
install(CODE "set(EXA_PROGRAM \"$<TARGET_FILE:exa>\")\nset(EXA_SCRATCH \"${CMAKE_BINARY_DIR}/package\")
set(EXA_SOURCE \"${CMAKE_SOURCE_DIR}\")"
        COMPONENT exa)
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/InstallGenerated.cmake COMPONENT exa)
install(FILES packaging/exa.service DESTINATION lib/systemd/system COMPONENT exa)
install(FILES testdata/authorisation/policy.csv DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT exa)
install(DIRECTORY packaging/prometheus packaging/grafana packaging/nginx
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT exa)
# Outside of every prefix: only for the package, never by a plain `cmake --install`.
install(FILES packaging/exa.default DESTINATION /etc/default RENAME exa COMPONENT system EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME exa)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "exa maintainers <maintainers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "named compute shapes, honestly resolved against real clusters")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "exa keeps hardware profiles: named, versioned, immutable shapes that
workbenches, training and serving refer to by name. It says which of your
Slurm, Flux and Kubernetes clusters can hold them, and what could not be
confirmed. Every change is an entry of a signed, append-only log.")
set(CPACK_STRIP_FILES ON)
# two components in one package: directory, project, component, place
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};exa;exa;/;${CMAKE_BINARY_DIR};exa;system;/")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# libcurl is loaded by name at run time (src/discover/http.cc), so dpkg-shlibdeps cannot see it
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, libcurl4, tzdata")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openssh-client")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nginx, prometheus")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${CMAKE_SOURCE_DIR}/packaging/debian/postinst;${CMAKE_SOURCE_DIR}/packaging/debian/prerm;\
${CMAKE_SOURCE_DIR}/packaging/debian/postrm;${CMAKE_SOURCE_DIR}/packaging/debian/conffiles")
set(CPACK_OUTPUT_CONFIG_FILE ${CMAKE_BINARY_DIR}/CPackConfig.cmake)
include(CPack)
