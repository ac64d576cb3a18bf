/** Reports whether supabase-js has stored a session in this browser. */
export function hasSession() {
  try {
    return Object.keys(localStorage).some((key) => /^sb-.+-auth-token$/.test(key));
  } catch {
    return false; // this browser forbids storage
  }
}

/** Reports whether the page has a session to restore: one in storage, or the reply of a sign-in in the address. */
export function hasSessionToRestore() {
  return hasSession() || /[#?&](access_token|code|error)=/.test(location.href);
}
