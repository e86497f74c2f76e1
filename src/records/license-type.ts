import { line } from './fields.ts'
import { recordKind } from './record-kind.ts'

export const licenseTypes = recordKind({
  name: 'license type',
  plural: 'license types',
  table: 'license_types',
  purpose: 'Labels of licenses. A license without a type is not served.',
  fields: {
    required: { type: line('The label of the license type.') },
    optional: {},
    generated: {},
    secret: {},
  },
  knownBy: 'type',
  sorts: ['id', 'type'],
  removalRefusal: 'This license type is still in use: licenses refer to it.',
  constraints: { license_types_type_key: { field: 'type' } },
  examples: { create: { type: 'standard' }, change: { type: 'premium' } },
})
