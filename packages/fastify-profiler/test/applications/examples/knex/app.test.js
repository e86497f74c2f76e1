import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('tables and engines are listed', async () => {
  const app = build()
  assert.equal((await app.inject('/tables')).json().length, 2)
  assert.equal((await app.inject('/engines')).json().length, 1)
  assert.deepEqual((await app.inject('/both')).json(), { one: 1 })
  await app.close()
})
