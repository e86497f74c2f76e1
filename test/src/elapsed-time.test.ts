import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { showElapsedTime } from '../../src/elapsed-time.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0
  return { isTTY, write, written }
}

t.test('a terminal sees the seconds pass', async t => {
  const output = terminal(true)
  const end = showElapsedTime(output, 'Creating the database')
  while (output.written.length < 3) await setTimeout(10)
  end()
  t.equal(output.written[0], '\rCreating the database: 0.0 s')
  t.match(output.written.slice(1, -1), [/^\rCreating the database: 0\.[1-9] s$/])
  t.equal(output.written.at(-1), '\n')
  const { length } = output.written
  await setTimeout(150)
  t.equal(output.written.length, length)
})

t.test('nothing else is written to', async t => {
  const output = terminal(false)
  showElapsedTime(output, 'Creating the database')()
  t.strictSame(output.written, [])
})
