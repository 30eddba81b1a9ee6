/** The longest identifier of the contract, in characters. */
export const LONGEST_ID = 128;
/** The longest freeSpinsRef, in characters. */
export const LONGEST_FREE_SPINS_REF = 256;
export const PUNCTUATION = '!"#$%&\'()*+,/:;<=>?@[\\]^_`{|}~';
