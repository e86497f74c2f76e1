import t from 'tap'
import { levelName, levelNames, levelTone, outcomeText, statusText, statusTone } from '../../../../../plugins/debug/profiler/views/tone.ts'

t.test('a status has the tone of its family, none at all is a warning', async t => {
  t.same([null, 101, 204, 301, 404, 503].map(statusTone), ['warning', 'good', 'good', 'neutral', 'warning', 'error'])
})

t.test('a status is named where it has a name', async t => {
  t.same([null, 404, 799].map(statusText), ['No response', '404 Not Found', '799'])
})

t.test('only outcomes out of the ordinary are told', async t => {
  t.same((['completed', 'aborted', 'hijacked', 'unfinished'] as const).map(outcomeText), [null, 'The client left', 'Answered past Fastify', 'The process closed first'])
})

t.test('levels are named as pino names them, others after the nearest below', async t => {
  t.same([5, 20, 35, 40, 50, 60].map(levelName), ['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
  t.equal(levelNames.length, 6)
})

t.test('only warnings and errors have a colour', async t => {
  t.same([10, 30, 40, 50].map(levelTone), ['neutral', 'neutral', 'warning', 'error'])
})
