import { id, line } from './fields.ts'
import { recordKind } from './record-kind.ts'

const name = line('The name of the platform.')

export const platforms = recordKind({
  name: 'platform',
  plural: 'platforms',
  table: 'platforms',
  fields: {
    required: { name },
    optional: {},
    generated: {},
    secret: {},
  },
  filters: {
    name: { schema: name },
    license_id: {
      schema: id('The id of a license that is served on the platform.'),
      link: { table: 'license_platforms', own: 'platform_id', other: 'license_id' },
    },
  },
  knownBy: 'name',
  sorts: ['id', 'name'],
  constraints: { platforms_name_key: { field: 'name' } },
  open: true,
  examples: { id: '3', create: { name: 'kiosk' }, change: { name: 'kiosk in the hall' } },
})
