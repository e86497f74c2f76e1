import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('a resolver that fails is answered', async () => {
  const app = await build()
  for (const path of ['mercurius', 'yoga', 'apollo']) {
    const { errors } = (await app.inject(`/${path}?query={order}`)).json()
    assert.equal(errors.length, 1)
  }
  assert.equal((await app.inject('/trpc/order')).json().error.message, 'The order is broken')
  await app.close()
})
