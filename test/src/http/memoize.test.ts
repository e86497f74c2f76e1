import t from 'tap'
import { memoize } from '../../../src/http/memoize.ts'

t.test('A result is computed once per text', async t => {
  const { calls, ask } = counted(10)
  t.strictSame([ask('a'), ask('b'), ask('a')], ['<a>', '<b>', '<a>'])
  t.strictSame(calls, ['a', 'b'])
})

t.test('A null result is remembered too', async t => {
  let calls = 0
  const ask = memoize(() => {
    calls++
    return null
  }, 10)
  t.strictSame([ask('a'), ask('a'), calls], [null, null, 1])
})

t.test('"__proto__" and "constructor" are ordinary texts', async t => {
  const { calls, ask } = counted(10)
  t.strictSame(
    [ask('__proto__'), ask('constructor'), ask('__proto__')],
    ['<__proto__>', '<constructor>', '<__proto__>'],
  )
  t.strictSame(calls, ['__proto__', 'constructor'])
})

t.test('Everything is forgotten when the limit is exceeded', async t => {
  const { calls, ask } = counted(2)
  for (const text of ['a', 'b', 'c', 'c', 'a']) ask(text)
  t.strictSame(calls, ['a', 'b', 'c', 'a'])
})

t.test('A long text is not remembered', async t => {
  const { calls, ask } = counted(10)
  for (const length of [300, 300, 301, 301]) ask('a'.repeat(length))
  t.strictSame(
    calls.map(text => text.length),
    [300, 301, 301],
  )
})

function counted(mostKept: number) {
  const calls: string[] = []
  const ask = memoize(text => {
    calls.push(text)
    return `<${text}>`
  }, mostKept)
  return { calls, ask }
}
