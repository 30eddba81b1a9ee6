/** This package's version, as in package.json; a test compares the two. */
export const VERSION = '0.1.0';
