import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('tickets have a price, and an error is told as usual', async () => {
  const app = build()
  assert.deepEqual((await app.inject('/tickets')).json(), { price: 12 })
  assert.deepEqual((await app.inject('/broken')).json(), {
    statusCode: 500,
    error: 'Internal Server Error',
    message: 'out of tickets',
  })
  await app.close()
})
