import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { Connection } from '../../../src/serving/connection.ts'
import { portOf } from '../../support/port.ts'

t.test('a connection that is never idle does not retain finished responses', async t => {
  const connections = new Map<Socket, Connection>()
  const server = createServer((request, response) => {
    connections.get(request.socket)?.add(response)
    request.resume().once('end', () => response.end('out'))
  })
  server.on('connection', socket => {
    connections.set(socket, new Connection(socket, { size: 0, overflow() {} }, 5000))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect(portOf(server.address()), '127.0.0.1')
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  const head = 'POST / HTTP/1.1\r\nHost: museum.test\r\nContent-Length: 2\r\n\r\na'
  socket.write(head)
  for (let count = 0; count < 100; count++) {
    socket.write(`b${head}`)
    await once(socket, 'data')
  }
  for (const { underWay } of connections.values()) t.ok(underWay <= 2)
  t.equal(connections.size, 1)
})
