import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { showElapsedTime } from '../../src/elapsed-time.ts'
import { stopClock } from '../support/clock.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  const events = new EventEmitter()
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0 && events.emit('written')
  return { isTTY, write, written, next: () => once(events, 'written') }
}

t.test('a terminal sees the seconds pass until the end', async t => {
  const letPass = stopClock(t)
  // The display itself lets the process end.
  const running = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(running))
  const output = terminal(true)
  const end = showElapsedTime(output, 'Creating the database')
  letPass(1234)
  await output.next()
  letPass(100_000)
  end()
  const times = ['0.0', '1.2', '101.2'].map(time => `\rCreating the database: ${time} s`)
  t.strictSame(output.written, [...times, '\n'])
  const later = terminal(true)
  const endLater = showElapsedTime(later, 'Creating another')
  for (let time = 0; time < 2; time++) await later.next()
  endLater()
  t.equal(output.written.length, 4)
})

t.test('nothing else is written to', async t => {
  const output = terminal(false)
  showElapsedTime(output, 'Creating the database')()
  t.strictSame(output.written, [])
})
