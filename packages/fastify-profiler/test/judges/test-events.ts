import type { TestEvent } from 'node:test/reporters'

/** How a test has ended. */
export interface TestEnd {
  passed: boolean
  file: string
  name: string
  line: number
  nesting: number
}

/** A reporter for `node --test`: a line of JSON for each test that has passed or failed. */
export default async function* report(source: AsyncGenerator<TestEvent, void>): AsyncGenerator<string, void> {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { file = '', name, line = 0, nesting } = data
    const end: TestEnd = { passed: type === 'test:pass', file, name, line, nesting }
    yield `${JSON.stringify(end)}\n`
  }
}
