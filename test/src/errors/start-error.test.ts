import t from 'tap'
import { reasonOf } from '../../../src/errors/start-error.ts'

t.test('The reason of several errors lists the reason of each', async t => {
  t.equal(
    reasonOf(new AggregateError([new Error('refused at ::1'), new Error('refused at 127.0.0.1')])),
    'refused at ::1, refused at 127.0.0.1',
  )
})
