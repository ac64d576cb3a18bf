/** Whether supabase-js has kept a session in this browser. */
export function hasSession() {
  try {
    return Object.keys(localStorage).some((key) => /^sb-.+-auth-token$/.test(key));
  } catch {
    return false; // this browser forbids storage
  }
}

/** Whether this page was opened with a session to take up: one in storage, or a sign-in's answer in the address. */
export function hasSessionToTakeUp() {
  return hasSession() || /[#?&](access_token|code|error)=/.test(location.href);
}
