import { createHook } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

t.test('An app keeps one of the objects that Node makes for process.nextTick()', async t => {
  const made: Array<WeakRef<object>> = []
  const hook = createHook({ init (_id, type, _trigger, resource) { if (type === 'TickObject') made.push(new WeakRef(resource)) } }).enable()
  const { buildApp } = await import('../../src/app.ts')
  const app = await buildApp()
  await app.close()
  hook.disable()
  for (let times = 0; times < 3; times++) {
    await turn()
    collect()
  }
  t.ok(made.length > 1)
  t.ok(made.some(reference => reference.deref() !== undefined))
})
