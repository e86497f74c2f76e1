import t from 'tap'
import { type Block, blocksHtml, blocksMarkdown } from '../../core/view/block.ts'
import { html } from '../../core/view/html.ts'

const place = { root: '/app', editorUrl: null }
const location = { file: '/app/art.ts', line: 7, column: 3 }

/** A block of each kind, with a piece of each kind. */
const document: readonly Block[] = [
  { text: ['The ', { code: 'a|b' }, ' of ', { strong: '<b>', tone: 'error' }, { link: 'here', to: '/there' }] },
  { notice: 'Showing the *first*.', tone: 'warning' },
  { metrics: [['Reads', 4, '1 failed']] },
  {
    title: 'Facts',
    pairs: [
      ['name', { value: { a: 1 } }],
      ['gone', { value: null }],
    ],
  },
  {
    section: 'Rows',
    count: 2,
    blocks: [
      {
        title: 'Rows',
        columns: [{ label: 'ms', kind: 'number' }, { label: 'What' }],
        rows: [
          ['1.00 ', { badge: 'hit', tone: 'good' }],
          { className: 'late', cells: [null, [{ small: 'a|b' }, ' ', { place: location }]] },
        ],
      },
      { title: 'None', columns: [{ label: 'A' }], rows: [], empty: 'No rows.' },
    ],
  },
  { findings: [{ tone: 'warning', claim: 'Slow.', detail: 'Make it fast.', places: [location] }] },
  { fold: 'Source', blocks: [{ source: 'select 1', language: 'sql' }] },
  { html: html`<i>drawn</i>`, markdown: 'said' },
]

t.test('blocks are a page', async t => {
  const page = String(blocksHtml(document, place))
  for (const part of [
    '<code>a|b</code>',
    '<b class="error">&lt;b&gt;</b>',
    '<a href="/there">here</a>',
    'notice warning',
    '<small>1 failed</small>',
    '<code>{&quot;a&quot;:1}</code>',
    'Rows <span class="count">2</span>',
    '<td class="number">1.00',
    'badge good',
    '<tr class="late">',
    'No rows.',
    'aria-label="Warning"',
    '<summary>Source</summary>',
    '<i>drawn</i>',
  ]) {
    t.ok(page.includes(part), part)
  }
  t.match(page, /<h3>Rows/)
})

t.test('blocks are Markdown, with sections below each other', async t => {
  t.equal(
    blocksMarkdown(document, place.root),
    [
      'The `a|b` of \\<b\\>here',
      'Showing the \\*first\\*.',
      '- Reads: 4 (1 failed)',
      '| Name | Value |\n| --- | --- |\n| name | `{"a":1}` |\n| gone | `null` |',
      '### Rows (2)',
      '| ms | What |\n| --- | --- |\n| 1.00 | hit |\n|  | a\\|b `art.ts:7:3` |',
      'No rows.',
      '- Slow. Make it fast. `art.ts:7:3`',
      '### Source',
      '```sql\nselect 1\n```',
      'said',
    ].join('\n\n'),
  )
})
