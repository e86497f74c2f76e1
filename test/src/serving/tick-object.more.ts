import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { uncountedNode } from '../../support/uncounted.ts'

/** Prints how many of Node's process.nextTick() objects are left once nothing is running. */
const script = `
  import { createHook } from 'node:async_hooks'
  import { setImmediate as turn } from 'node:timers/promises'
  const made = []
  createHook({ init (id, type, trigger, resource) { if (type === 'TickObject') made.push(new WeakRef(resource)) } }).enable()
  await import('${new URL('../../../src/serving/tick-object.js', import.meta.url).href}')
  await new Promise(resolve => { process.nextTick(resolve) })
  for (let times = 0; times < 3; times++) {
    await turn()
    gc()
  }
  const left = made.filter(object => object.deref() !== undefined).length
  process.stdout.write((made.length > 1) + ' ' + left + '\\n')`

t.test('A process that has loaded tick-object.js keeps one object that Node makes for process.nextTick()', async t => {
  const node = [...uncountedNode, '--expose-gc', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)('env', node)
  t.equal(stdout, 'true 1\n')
})
