import { fork } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { makeEmbeddedFolder } from '../../support/test-database.ts'

t.test('A server answers the connections that its parent hands over until it is told to end', async t => {
  const env = { ...process.env, DATA_DIR: makeEmbeddedFolder(t), DATABASE_URL: '', CONNECTIONS: 'handed' }
  const child = fork('dist/server.js', { env, silent: true })
  t.teardown(() => child.kill('SIGKILL'))
  t.strictSame(await once(child, 'message'), ['ready', undefined])

  const listener = createServer({ pauseOnConnect: true }, socket => {
    child.send('connection', socket)
  })
  t.teardown(() => listener.close())
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const { port } = listener.address() as AddressInfo
  // A connection that closes on the way arrives like this.
  child.send('connection')
  const [response] = await once(get({ port, host: '127.0.0.1', path: '/health', agent: false }), 'response')
  t.match(await text(response), 'alive')

  const idle = connect(port, '127.0.0.1')
  await once(listener, 'connection')
  const body = JSON.stringify({ email: 'a slow client sends this while the server closes' })
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n{`,
  )
  await once(listener, 'connection')
  child.send('end')
  const exited = once(child, 'exit')
  // The server closes idle connections once it has waited for silence.
  await once(idle.resume(), 'close')
  socket.write(body.slice(1))
  t.match(await text(socket), /^HTTP\/1\.1 400 /)
  t.strictSame(await exited, [0, null])
})
