import { inspect } from 'node:util'
import t from 'tap'
import { reasonOf, StartError } from '../../../src/errors/start-error.ts'

t.test('A start error is recognized by its name', async t => {
  t.match(new StartError('PORT must be a number.'), { name: 'StartError', message: 'PORT must be a number.' })
})

t.test('A start error is shown as one line', async t => {
  t.equal(
    inspect(new StartError('PORT must be a number.', { cause: new Error('hunter2') })),
    'portico: PORT must be a number.',
  )
})

t.test('The reason of an error is its message', async t => {
  t.equal(reasonOf(new TypeError('not a function')), 'not a function')
})

t.test('The reason of several errors lists the reason of each', async t => {
  t.equal(
    reasonOf(new AggregateError([new Error('refused at ::1'), new Error('refused at 127.0.0.1')])),
    'refused at ::1, refused at 127.0.0.1',
  )
})

t.test('The reason of a value that is not an error is the value as text', async t => {
  t.equal(reasonOf('out of order'), 'out of order')
  t.equal(reasonOf(undefined), 'undefined')
})

t.test('A reason is one line', async t => {
  t.equal(reasonOf(new Error('first\r\n  second\n\nthird\n')), 'first second third')
})
