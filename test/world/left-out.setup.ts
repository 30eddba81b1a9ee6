/** Says at the end of `npm test` which tests did not run. */
export default function setup(): () => void {
  return () => {
    console.log(
      '\nNot run: npm run test:long (faults, processes, pages, the money suites with three other settings) and\n' +
        'npm run test:services (PostgreSQL and Redis at their ports). .ci/run runs all of them.',
    );
  };
}
