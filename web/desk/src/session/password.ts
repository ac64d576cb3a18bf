/** Characters that a new password needs. */
const minPassword = 12;

/** Reports whether a new password is too short. */
export const tooShort = (password: string) => password.length < minPassword;
