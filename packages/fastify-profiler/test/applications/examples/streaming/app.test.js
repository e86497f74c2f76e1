import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { build } from './app.js'

test('the echo is in capitals', async () => {
  const app = await build()
  await app.ready()
  const socket = await app.injectWS('/echo')
  socket.send('hello')
  const [message] = await once(socket, 'message')
  assert.equal(String(message), 'HELLO')
  socket.terminate()
  await app.close()
})

test('events and lines arrive whole', async () => {
  const app = await build()
  assert.equal((await app.inject('/events')).body, 'data: one\n\ndata: two\n\ndata: three\n\n')
  assert.equal((await app.inject('/lines')).body, 'first\nsecond\n')
  await app.close()
})
