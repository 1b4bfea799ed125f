# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# How the folders under lib/ become libraries. Sources are globbed: a file that is there is built.

set(ACCC_WARNINGS -Wall -Wextra -Werror -Wno-unused-parameter)

# accc_compiler_library(<name> DIRS <dir>... [LINK <lib>...] [DEPENDS <target>...])
# A static library of the compiler: every .cpp below the folders, against LLVM and MLIR.
function(accc_compiler_library name)
  cmake_parse_arguments(ARG "" "" "DIRS;LINK;DEPENDS" ${ARGN})
  set(sources)
  foreach(dir ${ARG_DIRS})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp)
    list(APPEND sources ${found})
  endforeach()
  add_library(${name} STATIC ${sources})
  accc_compiler_settings(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ACCC_COVERAGE AND name MATCHES "^accc_(frontend|training|ir|transforms|layout|fusion|schedule|budget)$")
    target_compile_options(${name} PRIVATE -fprofile-instr-generate -fcoverage-mapping)
  endif()
  if(TARGET accc_ir_generated)
    add_dependencies(${name} accc_ir_generated)
  endif()
  foreach(depends ${ARG_DEPENDS} ${name}_passes)
    if(TARGET ${depends})
      add_dependencies(${name} ${depends})
    endif()
  endforeach()
endfunction()

# accc_folder_passes(<folder>): lib/<folder>/Passes.td, if there, becomes the passes' declarations in
# <folder>/Passes.h.inc, made by the target accc_<folder>_passes. Collects what registerAcccPasses() needs.
macro(accc_folder_passes folder)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/Passes.td)
    string(SUBSTRING ${folder} 0 1 initial)
    string(SUBSTRING ${folder} 1 -1 rest)
    string(TOUPPER ${initial} initial)
    accc_tablegen(${folder}/Passes.td -gen-pass-decls ${folder}/Passes.h.inc -name=${initial}${rest})
    string(APPEND pass_headers "#include \"${folder}/Passes.h\"\n")
    string(APPEND pass_registrations "  register${initial}${rest}Passes();\n")
    add_public_tablegen_target(accc_${folder}_passes)
  endif()
endmacro()

# Flags and include folders of everything that includes LLVM's headers.
function(accc_compiler_settings name)
  target_compile_options(${name} PRIVATE ${ACCC_WARNINGS} -fno-rtti)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/lib ${CMAKE_BINARY_DIR}/lib
                                            ${CMAKE_SOURCE_DIR}/include)
  target_include_directories(${name} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  if(NOT name STREQUAL accc_pch)
    if(TARGET accc_pch)
      # An executable would be compiled with -fPIE, which the header was not.
      get_target_property(type ${name} TYPE)
      if(type STREQUAL EXECUTABLE)
        set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        target_compile_options(${name} PRIVATE -fPIC)
      endif()
      target_precompile_headers(${name} REUSE_FROM accc_pch)
      target_link_libraries(${name} PUBLIC accc_pch)
    endif()
  endif()
endfunction()

# accc_tablegen(<file.td> <generator> <output>): one mlir-tblgen run, collected for accc_ir_generated.
macro(accc_tablegen td generator output)
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${output} ${generator} -I${CMAKE_SOURCE_DIR}/lib -I${MLIR_INCLUDE_DIRS} ${ARGN})
endmacro()
