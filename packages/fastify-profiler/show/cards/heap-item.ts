import type { MemoryUse } from '../../base/profile.ts'
import type { ToolbarItem } from '../../collect/panel.ts'
import { formatBytes, formatShare } from '../parts/units.ts'

/** The heap of the process when the page was made. Other requests count, too. */
export function heapItem({ heapLimit, heapTotal, heapUsedAtEnd, heapUsedAtStart }: MemoryUse): ToolbarItem {
  const grown = heapUsedAtEnd - heapUsedAtStart
  return {
    label: 'Heap',
    value: formatBytes(heapUsedAtEnd),
    tone: 'neutral',
    card: {
      title: `${formatBytes(heapUsedAtEnd)} of the heap used`,
      note: `${formatShare(heapUsedAtEnd, heapLimit)} of its limit`,
      rows: [
        ['', grown < 0 ? 'freed during the request' : 'added during the request', formatBytes(Math.abs(grown))],
        ['', 'reserved', formatBytes(heapTotal)],
        ['', 'limit', formatBytes(heapLimit)],
      ],
      foot: 'the whole process, with other requests',
    },
  }
}
