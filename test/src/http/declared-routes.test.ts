import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import findMyWay from 'find-my-way'
import t from 'tap'
import { RouteTable } from '../../../src/http/declared-routes.ts'

const segment = fc.constantFrom(
  'a',
  'ab',
  'b',
  'b*',
  'c::d',
  'e%f',
  ':one',
  ':two',
  ':one.json',
  'a-:one',
  ':one-:two',
  ':one(^\\d+$)',
  ':two(^[a-z]+$)',
  ':one?',
  '*',
  '',
)
const url = fc
  .oneof(
    { weight: 9, arbitrary: fc.array(segment, { maxLength: 4 }).map(segments => `/${segments.join('/')}`) },
    fc.constant('*'),
  )
  // A wildcard or an optional parameter must end a route.
  .filter(url => !/[*?]./.test(url))
const path = fc
  .array(
    fc.constantFrom('a', 'ab', 'b', 'bc', 'c:d', 'e%f', 'e%25f', 'c', '1', 'c.json', 'a-c', 'c-1', '%61', '%zz', ''),
    { maxLength: 4 },
  )
  .map(segments => segments.join('/'))
  .map(rest => `/${rest}`)

t.test("A path's methods are those that the router would match", async t => {
  const declared = fc.uniqueArray(fc.record({ method: fc.constantFrom('GET', 'POST', 'PUT'), url }), {
    maxLength: 3,
    selector: ({ method }) => method,
  })
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(declared, path, (routes, path) => {
        const table = new RouteTable()
        for (const { method, url } of routes) table.add({ method, url })
        const matching = routes.filter(({ url }) => matches(url, path)).map(({ method }) => method)
        deepStrictEqual(table.methodsOf(path), matching)
        deepStrictEqual(
          routes.filter(({ method }) => table.has(method, path)).map(({ method }) => method),
          matching,
        )
      }),
      { numRuns: 3000, seed: 1 },
    ),
  )
})

function matches(url: string, path: string): boolean {
  const router = findMyWay()
  router.on('GET', url, () => {})
  return router.find('GET', path) !== null
}
