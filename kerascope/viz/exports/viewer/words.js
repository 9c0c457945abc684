// The texts of the page. The scripts contain English; a page in several languages adds a table.

const SPEECH = { words: null };

/** Return an English text in the current language. */
function said(english) {
  return SPEECH.words?.[english] ?? english;
}
