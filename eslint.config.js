import neostandard from 'neostandard'

export default neostandard({ ts: true, noStyle: true, ignores: ['**/dist/**', 'data/**', '.tap/**'] })
