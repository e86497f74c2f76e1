'use strict'
const build = require('./app.js')

build().listen({ port: Number(process.env.PORT) }, function (error, address) {
  if (error) throw error
  console.log(address)
})
