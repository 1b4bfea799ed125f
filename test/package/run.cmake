# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run(<command> [<argument>...]): runs a command, and ends the script where it fails.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status COMMAND_ECHO STDOUT TIMEOUT 300)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGV}")
  endif()
endfunction()
