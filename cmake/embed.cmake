# cmake -DTEXT=FILE -DNAME=constant -DOUT=FILE.cpp -P embed.cmake: a text file as a C++ constant of namespace assay::store::sql.
file(READ "${TEXT}" text)
if(text MATCHES "\\)sql\"")
  message(FATAL_ERROR "${TEXT}: the text holds the end of a raw literal")
endif()
file(WRITE "${OUT}" "#include \"assay/store/sql.hpp\"\n\nconst char* const assay::store::sql::${NAME} = R\"sql(\n${text})sql\";\n")
