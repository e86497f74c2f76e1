import { line } from './fields.ts'
import { recordKind } from './record-kind.ts'

const type = line('The label of the license type.')

export const licenseTypes = recordKind({
  name: 'license type',
  plural: 'license types',
  table: 'license_types',
  fields: {
    required: { type },
    optional: {},
    generated: {},
    secret: {},
  },
  filters: { type: { schema: type } },
  knownBy: 'type',
  sorts: ['id', 'type'],
  constraints: { license_types_type_key: { field: 'type' } },
  examples: { id: '2', create: { type: 'standard' }, change: { type: 'premium' } },
})
