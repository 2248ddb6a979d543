# cmake --install: command, agent, man page, completion, documents, licence, in GNU's folders.
install(TARGETS bbflow RUNTIME)
if(TARGET agent)
  install(TARGETS agent LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET api_jar)
  install(FILES ${CMAKE_BINARY_DIR}/bbflow-api.jar ${CMAKE_BINARY_DIR}/bbflow-javaagent.jar
          DESTINATION ${CMAKE_INSTALL_DATADIR}/java)
endif()
if(TARGET bbf_lttng)
  install(TARGETS bbf_lttng bbf_lttng_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# `pkg-config --variable=agent bbflow`: the path for -agentpath. There is no C library to link.
configure_file(packaging/bbflow.pc.in ${CMAKE_BINARY_DIR}/bbflow.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/bbflow.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES docs/man/bbflow.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES client/bbflow.bash RENAME bbflow
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
# As in the source, so that the links from one document to another hold.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN man EXCLUDE)

# Where the command looks for the agent (client/library.c): the way from its folder to the library's,
# so that an installation may be moved, and DESTDIR does not matter.
file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
target_compile_definitions(bbf_client PRIVATE BBF_LIB_FROM_BIN="${lib_from_bin}")
