import { inspect } from 'node:util'
import t from 'tap'
import { reasonOf, StartError } from '../../../src/errors/start-error.ts'

t.test('A start error is shown as one line', async t => {
  const error = new StartError('PORT must be a number.', { cause: new Error('hunter2') })
  t.equal(error.name, 'StartError')
  t.equal(inspect(error), 'portico: PORT must be a number.')
})

t.test('The reason of several errors lists the reason of each', async t => {
  t.equal(
    reasonOf(new AggregateError([new Error('refused at ::1'), new Error('refused at 127.0.0.1')])),
    'refused at ::1, refused at 127.0.0.1',
  )
})

t.test('A reason is one line', async t => {
  t.equal(reasonOf(new Error('first\r\n  second\n\nthird\n')), 'first second third')
})
