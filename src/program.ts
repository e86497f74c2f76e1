/** The command line as typed in the folder of a site that has the package installed, or in the repository. */
export const program = import.meta.dirname.includes('node_modules') ? 'npx portico' : 'npm run portico --'
