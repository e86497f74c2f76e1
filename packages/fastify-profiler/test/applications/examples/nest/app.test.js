import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

for (const [hasFilter, status] of [
  [false, 500],
  [true, 503],
]) {
  test(`an order is found, and a broken one answered with ${status}`, async () => {
    const app = await build({ hasFilter })
    await app.init()
    assert.deepEqual((await app.inject('/orders/7')).json(), { id: '7' })
    const { statusCode } = await app.inject({ url: '/orders/13', headers: { accept: 'text/html' } })
    assert.equal(statusCode, status)
    await app.close()
  })
}
