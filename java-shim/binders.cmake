# bbflow-micrometer.jar and bbflow-opentelemetry.jar: cmake --build … --target binders. Not part of the normal
# build, because they are compiled against those libraries, which scripts/fetch-maven gets.
set(MICROMETER_CORE io.micrometer:micrometer-core:1.15.5 io.micrometer:micrometer-commons:1.15.5
                    io.micrometer:micrometer-observation:1.15.5)
set(OPENTELEMETRY_API io.opentelemetry:opentelemetry-api:1.55.0 io.opentelemetry:opentelemetry-context:1.55.0
                      io.opentelemetry:opentelemetry-common:1.55.0)
function(bbf_binder name coordinates)
  set(folder ${CMAKE_SOURCE_DIR}/java-shim/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.java)
  set(jar ${CMAKE_BINARY_DIR}/bbflow-${name}.jar)
  add_custom_command(
    OUTPUT ${jar}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${SHIM}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${SHIM}/${name}
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/fetch-maven ${coordinates} > ${SHIM}/${name}.jars
    COMMAND sh -c "exec \"$@\" -cp \"${API_JAR}:$(paste -sd: ${SHIM}/${name}.jars)\"" sh
            ${JAVAC} -encoding UTF-8 --release 8 -Xlint:-options -nowarn -g -d ${SHIM}/${name} ${sources}
    COMMAND ${CMAKE_COMMAND} -E chdir ${SHIM}/${name} ${CMAKE_COMMAND} -E tar cf ${jar} --format=zip
            "--mtime=2020-01-01 00:00:00 UTC" io
    DEPENDS ${sources} ${API_JAR}
    VERBATIM)
  add_custom_target(${name}_jar DEPENDS ${jar})
  add_dependencies(binders ${name}_jar)
  install(FILES ${jar} DESTINATION ${CMAKE_INSTALL_DATADIR}/java OPTIONAL)
endfunction()
add_custom_target(binders)
bbf_binder(micrometer "${MICROMETER_CORE}")
bbf_binder(opentelemetry "${OPENTELEMETRY_API}")
