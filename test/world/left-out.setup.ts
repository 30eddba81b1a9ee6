/** Says at the end of `npm test` which tests it left out. */
export default function setup(): () => void {
  return () => {
    console.log(
      '\nLeft out: npm run test:long (faults, processes, pages, the money suites in three more forms) and\n' +
        'npm run test:services (PostgreSQL and Redis at their ports). .ci/run runs all of them.',
    );
  };
}
