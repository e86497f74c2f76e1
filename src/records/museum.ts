import { id, line } from './fields.ts'
import { recordKind } from './record-kind.ts'

const licenseId = id('The id of the license that the museum belongs to.')
const name = line('The name of the museum.')

export const museums = recordKind({
  name: 'museum',
  plural: 'museums',
  table: 'museums',
  fields: {
    required: { license_id: licenseId, name },
    optional: {},
    generated: {},
    secret: {},
  },
  filters: { license_id: { schema: licenseId }, name: { schema: name } },
  knownBy: 'name',
  sorts: ['id', 'name'],
  constraints: { museums_license_id_fkey: { field: 'license_id', refersTo: 'license' } },
  open: true,
  storeKey: 'license_id',
  examples: {
    id: '6',
    create: { license_id: '1', name: 'Museum of Bridges' },
    change: { name: 'Museum of Long Bridges' },
  },
})
