import { id, line } from './fields.ts'
import { recordKind } from './record-kind.ts'

const licenseId = id('The id of the license whose site the group may enter.')
const name = line('The name of the group.')

export const groups = recordKind({
  name: 'group',
  plural: 'groups',
  table: 'groups',
  fields: {
    required: { license_id: licenseId, name },
    optional: {},
    generated: {},
    secret: {},
  },
  filters: { license_id: { schema: licenseId }, name: { schema: name } },
  knownBy: 'name',
  sorts: ['id', 'name'],
  constraints: { groups_license_id_fkey: { field: 'license_id', refersTo: 'license' } },
  storeKey: 'license_id',
  examples: { id: '4', create: { license_id: '1', name: 'Guides' }, change: { name: 'Guides and guards' } },
})
