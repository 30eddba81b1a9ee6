/** Fields that the contract does not have. */
export const UNKNOWN_FIELDS = { certifyUnknown: { list: [1, 'two', null] }, certifyFlag: true };
