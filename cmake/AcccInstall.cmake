# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake --install: the runtime and its headers, the compiler, what find_package(accc) and pkg-config read, the Python
# package that exports models, the documentation and the licence.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/accc)
set(targets accc_runtime accc_safetensors accc_headers)
# The linker of a program is told where the runtimes for other targets are, which are loaded by name.
target_link_options(accc_runtime INTERFACE
  "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>")
if(TARGET accc_cuda)
  install(TARGETS accc_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
set_target_properties(accc_runtime PROPERTIES EXPORT_NAME runtime)
set_target_properties(accc_safetensors PROPERTIES EXPORT_NAME safetensors)
set_target_properties(accc_headers PROPERTIES EXPORT_NAME headers)
if(TARGET accc_mpi)
  list(APPEND targets accc_mpi)
  set_target_properties(accc_mpi PROPERTIES EXPORT_NAME mpi)
endif()
if(TARGET accc)
  list(APPEND targets accc)
  # LLVM's libraries are not where the loader looks.
  set_target_properties(accc PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
endif()
install(TARGETS ${targets} EXPORT acccTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/accc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")
install(EXPORT acccTargets NAMESPACE accc:: DESTINATION ${package})
# What exports models from PyTorch, for pip install.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python DESTINATION ${CMAKE_INSTALL_DATADIR}/accc
  FILES_MATCHING PATTERN "*.py" PATTERN "*.md" PATTERN "*.toml" PATTERN "__pycache__" EXCLUDE
  PATTERN "*.egg-info" EXCLUDE PATTERN "build" EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/accc FILES_MATCHING PATTERN "*.md")
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/accc)

# For programs that are not built by CMake. pkg-config fits any prefix: the file says where all is from itself.
file(RELATIVE_PATH ACCC_LIBDIR_TO_INCLUDEDIR ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
get_filename_component(ACCC_GOMP_NAME ${ACCC_GOMP} NAME)
configure_file(${CMAKE_SOURCE_DIR}/cmake/accc.pc.in ${CMAKE_BINARY_DIR}/accc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/accc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/acccConfig.cmake.in
  ${CMAKE_BINARY_DIR}/acccConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/acccConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/acccConfig.cmake ${CMAKE_BINARY_DIR}/acccConfigVersion.cmake
  ${CMAKE_SOURCE_DIR}/cmake/AcccAddModel.cmake DESTINATION ${package})
