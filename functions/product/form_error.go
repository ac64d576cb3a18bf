package product

// formErrorPage is the reply to a form post without JavaScript that fails in the gateway. The
// gateway does not know the visitor's language, so the page has both. Its sentences come from
// the form.
const formErrorPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>Submission Failed · Gudbintu way fashilantay</title>
<main>
<h1>Submission Failed</h1>
<p>Please try again or contact us directly.</p>
<p><a href="/report/">Report a product</a> · <a href="/contact/">Contact us</a></p>
<div lang="so">
<h2>Gudbintu way fashilantay</h2>
<p>Fadlan mar kale isku day ama si toos ah noola soo xiriir.</p>
<p><a href="/so/report/">Soo sheeg badeecad</a> · <a href="/so/contact/">Nala soo xiriir</a></p>
</div>
</main>
</html>
`
