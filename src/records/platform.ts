import { id, line } from './fields.ts'
import { recordKind } from './record-kind.ts'

export const platforms = recordKind({
  name: 'platform',
  plural: 'platforms',
  table: 'platforms',
  purpose: 'What sites are served on, such as the web or a kiosk.',
  fields: {
    required: { name: line('The name of the platform.') },
    optional: {},
    generated: {},
    secret: {},
  },
  filters: {
    license_id: {
      schema: id('The id of a license that is served on the platform.'),
      link: { table: 'license_platforms', own: 'platform_id', other: 'license_id' },
    },
  },
  knownBy: 'name',
  sorts: ['id', 'name'],
  removalRefusal: 'This platform is still in use: license platforms refer to it.',
  constraints: { platforms_name_key: { field: 'name' } },
  open: true,
  examples: { create: { name: 'kiosk' }, change: { name: 'kiosk in the hall' } },
})
