'use strict'
const assert = require('node:assert')
const { test } = require('node:test')
const build = require('./app.js')

test('museums are listed', (t, done) => {
  const app = build()
  app.inject('/museums', function (error, response) {
    assert.ifError(error)
    assert.deepStrictEqual(response.json(), [{ id: 1 }, { id: 2 }, { id: 3 }])
    app.close(done)
  })
})

test('an id that is no number is an error', async () => {
  const app = build()
  assert.strictEqual((await app.inject('/museums/x')).statusCode, 500)
  await app.close()
})
