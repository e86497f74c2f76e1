import t from 'tap'
import { fitTable, renderTable } from '../../../src/command-line/table.ts'

const headings = [
  'id',
  'domain',
  'name',
  'type_id',
  'protected',
  'language_ids',
  'platform_ids',
  'created_at',
  'updated_at',
]
const row = ['1', 'd'.repeat(255), 'n'.repeat(255), '1', 'false', '1,2,3', '1', '2026-01-01T00:00:00.000Z', '2026']

for (const width of [40, 80, 120]) {
  t.test(`a table of long cells fits ${width} columns`, async t => {
    const lines = renderTable(fitTable([headings, row], width))
      .trimEnd()
      .split('\n')
    t.ok(lines.every(line => line.length <= width))
    t.match(lines[0], /^id +domain +name/)
    t.match(lines[1], /^1 +d+… +n+…/)
  })
}

t.test('a narrow table stays as it is', async t => {
  const rows = [
    ['id', 'name'],
    ['1', 'web'],
  ]
  t.strictSame(fitTable(rows, 80), rows)
  t.strictSame(fitTable([], 80), [])
})

t.test('a terminal too narrow for any table gets the first columns', async t => {
  t.equal(renderTable(fitTable([headings, row], 1)), 'id  domain    name\n1   ddddddd…  nnnnnnn…\n')
})
