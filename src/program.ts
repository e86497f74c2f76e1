/** The command line as typed in the project's folder. */
export const program = 'npm run portico --'
