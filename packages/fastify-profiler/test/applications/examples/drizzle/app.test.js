import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('two types are listed', async () => {
  const app = build()
  assert.equal((await app.inject('/types')).json().length, 2)
  assert.deepEqual((await app.inject('/now')).json(), { rows: 1 })
  assert.equal((await app.inject('/postgres-js')).json().length, 1)
  await app.close()
})
