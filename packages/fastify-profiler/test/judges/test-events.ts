import type { TestEvent } from 'node:test/reporters'

/** A reporter for `node --test`: a line of JSON for each test that has passed or failed. */
export default async function* report(source: AsyncGenerator<TestEvent, void>): AsyncGenerator<string, void> {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { file = '', name, line = 0, nesting } = data
    yield `${JSON.stringify({ passed: type === 'test:pass', file, name, line, nesting })}\n`
  }
}
